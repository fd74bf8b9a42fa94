DROP TABLE can_product;
DROP TABLE wallet;
DROP TABLE member;
