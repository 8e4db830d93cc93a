"""Researchers' pages inside the admin."""

from django.urls import URLPattern

app_name = "evaluation"
urlpatterns: list[URLPattern] = []
