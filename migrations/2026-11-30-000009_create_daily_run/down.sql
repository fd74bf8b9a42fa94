DROP TABLE daily_run;
