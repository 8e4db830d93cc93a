"""Public addresses of the collection."""

from django.urls import URLPattern

app_name = "collection"
urlpatterns: list[URLPattern] = []
