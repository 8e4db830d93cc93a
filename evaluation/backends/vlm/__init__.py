"""Vision–language models of the LLaVA-NeXT kind: prompts, image tiles, packing of batches."""
