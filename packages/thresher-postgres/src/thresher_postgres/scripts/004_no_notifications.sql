-- Nobody listens any more; a notification also serializes the commits of a whole database.
DROP FUNCTION tell_change() CASCADE;
