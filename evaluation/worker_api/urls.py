"""Addresses of workers. A token opens these and no others."""

from django.urls import path

from evaluation.worker_api import views

app_name = "worker"

urlpatterns = [
    path("hello", views.greet, name="hello"),
    path("models", views.list_models, name="models"),
    path("runs", views.list_waiting_runs, name="runs"),
    path("runs/<int:run>", views.show_run, name="run"),
    path("runs/<int:run>/leases", views.lease_units, name="lease"),
    path("runs/<int:run>/pause", views.pause_run, name="pause"),
    path("runs/<int:run>/complete", views.complete_run, name="complete"),
    path("runs/<int:run>/call", views.call_others, name="call"),
    path("leases/renew", views.renew_leases, name="renew"),
    path("leases/<uuid:lease>/inputs/<str:sha256>", views.read_input, name="input"),
    path("leases/<uuid:lease>/vectors", views.find_vectors, name="vectors"),
    path("leases/<uuid:lease>/run-vectors", views.find_run_vectors, name="run-vectors"),
    path("leases/<uuid:lease>/results", views.deliver_results, name="results"),
    path("leases/<uuid:lease>/release", views.release_lease, name="release"),
    path("uploads/<str:sha256>", views.take_upload, name="upload"),
]
