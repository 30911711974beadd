"""Homes in a bucket: S3 and compatible stores, Google Cloud Storage, Azure Blob Storage."""
