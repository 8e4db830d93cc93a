"""Pages of reviewers. The token of the page and its cookie say who answers."""
