"""What pages show: tables, runs, images and forms as plain values for templates. No request here."""
