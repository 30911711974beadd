"""`thresher eval study`: measurements that are not questions and answers."""
