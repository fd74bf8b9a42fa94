DROP TABLE audit_entry;
