DROP FUNCTION refuse_change();
DROP FUNCTION set_updated_at();
