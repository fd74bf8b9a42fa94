DROP TABLE failure_group;
DROP TABLE failure_feed;
DROP TABLE failure;
