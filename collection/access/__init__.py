"""Who a request comes from and what it may do: form tokens, return codes, turns, limits on attempts.

No page is built here.
"""
