"""Tables: observe, compute, store, read and serialise them. Stored outcomes become numbers here."""
