"""The ground that every app may import: environment, middleware, logs, storage, errors.

Imports nothing of the project but itself.
"""
