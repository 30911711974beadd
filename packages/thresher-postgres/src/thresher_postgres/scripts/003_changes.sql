-- Whoever listens is told of every change: each begins with a row of one of these tables.
CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('thresher', TG_TABLE_SCHEMA);
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_change AFTER INSERT OR UPDATE OR DELETE ON record_tables EXECUTE FUNCTION tell_change();
CREATE TRIGGER tell_change AFTER INSERT OR UPDATE OR DELETE ON chunk_tables EXECUTE FUNCTION tell_change();
