DROP TABLE ledger_entry;
DROP TABLE charge;
