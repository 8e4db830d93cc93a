"""The association study: CLIP weighted-cosine scores between images and descriptor words."""
