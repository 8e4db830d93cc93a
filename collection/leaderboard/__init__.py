"""The leaderboard: counters that dishes change, and the page that reads them."""
