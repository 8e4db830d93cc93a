"""Images and their files: copies for people, archives, downloads, what machines measured."""
