"""What dishes a reference list lacks, and how their numbers go with internet use (World Wide recipe §2.2.1, App. D)."""
