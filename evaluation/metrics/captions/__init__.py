"""Captions held against references: BLEU, ROUGE-L, CIDEr, METEOR without synonyms, and whether they name the label.

All take tokens; `tokens` makes them, and its tokenizer is named beside every result.
"""
