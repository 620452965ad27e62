"""What has no folder of its own yet."""
