"""What leaves and enters as a whole: replication packages, published data, the demonstration.

May import everything; nothing imports it but `wwd`.
"""
