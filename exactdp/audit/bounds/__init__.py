"""What counts certify: exact confidence bounds and regions, rounded outward."""
