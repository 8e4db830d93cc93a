"""The knowledge study: what language models say of dishes, judged against what people said."""
