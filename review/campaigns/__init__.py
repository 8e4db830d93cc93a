"""Campaigns: what is reviewed, the copies of images for reviewers, and when a campaign may open."""
