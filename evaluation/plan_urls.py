"""Addresses of plans and of what one plans with."""

from django.urls import path

from evaluation import plan_views, precision_views

urlpatterns = [
    path("precision/", precision_views.planner, name="precision"),
    path("plans/", plan_views.plan_list, name="plans"),
    path("plans/new/", plan_views.write, name="plan-new"),
    path("plans/<slug:slug>/", plan_views.detail, name="plan"),
    path("plans/<slug:slug>/edit/", plan_views.write, name="plan-edit"),
    path("plans/<slug:slug>/freeze/", plan_views.freeze, name="plan-freeze"),
    path("plans/<slug:slug>/unmask/", plan_views.unmask, name="plan-unmask"),
    path("plans/<slug:slug>/plan.json", plan_views.as_json, name="plan-json"),
]
