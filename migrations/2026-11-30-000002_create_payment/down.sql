DROP TABLE payment;
