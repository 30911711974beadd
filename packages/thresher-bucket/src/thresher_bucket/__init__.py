"""Homes in a bucket: S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage."""
