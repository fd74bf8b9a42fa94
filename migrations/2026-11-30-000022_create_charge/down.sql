DROP TABLE ledger_entry;
DROP TABLE charge_reference;
DROP TABLE charge;
