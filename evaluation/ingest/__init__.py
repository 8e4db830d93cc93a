"""Results made elsewhere: answers, image folders and photographs become runs like any other."""
