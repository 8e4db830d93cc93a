"""Names of tables, backends and runs, and the lazy import paths behind them. Other apps register theirs."""
