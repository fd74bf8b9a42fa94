use chrono::{NaiveDate, NaiveTime};
use chrono_tz::Tz;
use diesel::{
    QueryableByName,
    result::QueryResult,
    sql_types::{Date, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::Statement;
use crate::types::Instant;

/// Work that is done once for each local day from a time of day on: in one process at a time, whatever restarts, several
/// processes and clock changes do. The memory is a row for each day.
#[derive(Debug, Clone)]
pub struct DailyRun {
    /// The worker's name.
    pub name: &'static str,
    /// From when on, by the zone's clock.
    pub at: NaiveTime,
    /// Whose days.
    pub zone: Tz,
    /// This process.
    pub instance: String,
}

/// A day whose work this process has taken. It is another's once it has given no sign of life for five minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(NaiveDate);

#[derive(QueryableByName)]
struct Clock {
    #[diesel(sql_type = Timestamptz)]
    now: Instant,
}

impl DailyRun {
    /// Takes today's work if it is time, not done, and nobody is at it.
    pub async fn take(&self, conn: &mut AsyncPgConnection) -> QueryResult<Option<Day>> {
        let now = Statement::new("SELECT now() AS now").get_result::<Clock>(conn).await?.now;
        let Some(day) = due(now, self.at, self.zone) else { return Ok(None) };
        let taken = Statement::new(
            "INSERT INTO daily_run (name, day, instance) VALUES ($1, $2, $3)
             ON CONFLICT (name, day) DO UPDATE SET instance = excluded.instance, beat_at = now()
             WHERE daily_run.finished_at IS NULL AND daily_run.beat_at < now() - interval '5 minutes'",
        )
        .bind::<Text, _>(self.name)
        .bind::<Date, _>(day)
        .bind::<Text, _>(self.instance.clone())
        .execute(conn)
        .await?;
        Ok((taken == 1).then_some(Day(day)))
    }

    /// Gives a sign of life. False once another process has taken over.
    pub async fn goes_on(&self, conn: &mut AsyncPgConnection, day: Day) -> QueryResult<bool> {
        let beat = "UPDATE daily_run SET beat_at = now()
                    WHERE name = $1 AND day = $2 AND instance = $3 AND finished_at IS NULL";
        self.mark(conn, day, beat).await
    }

    /// The day's work is done.
    pub async fn finish(&self, conn: &mut AsyncPgConnection, day: Day) -> QueryResult<bool> {
        let end = "UPDATE daily_run SET finished_at = now()
                   WHERE name = $1 AND day = $2 AND instance = $3 AND finished_at IS NULL";
        self.mark(conn, day, end).await
    }

    async fn mark(
        &self,
        conn: &mut AsyncPgConnection,
        Day(day): Day,
        update: &'static str,
    ) -> QueryResult<bool> {
        let marked = Statement::new(update)
            .bind::<Text, _>(self.name)
            .bind::<Date, _>(day)
            .bind::<Text, _>(self.instance.clone())
            .execute(conn)
            .await?;
        Ok(marked == 1)
    }
}

/// The zone's day whose work is due: its clock shows `at` or later. Where a clock change leaves `at` out, the first time
/// after it is later too; where it comes twice, the day is the same.
fn due(now: Instant, at: NaiveTime, zone: Tz) -> Option<NaiveDate> {
    let local = now.with_timezone(&zone).naive_local();
    (local.time() >= at).then(|| local.date())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_at(now: &str, at: &str, zone: &str) -> Option<String> {
        let now = now.parse().unwrap();
        due(now, at.parse().unwrap(), zone.parse().unwrap()).map(|day| day.to_string())
    }

    #[test]
    fn a_day_is_due_from_its_time_on_until_it_ends() {
        let seoul = |now| due_at(now, "03:00:00", "Asia/Seoul");
        assert_eq!(seoul("2026-11-29T17:59:59Z"), None);
        assert_eq!(seoul("2026-11-29T18:00:00Z").as_deref(), Some("2026-11-30"));
        assert_eq!(seoul("2026-11-30T14:59:59Z").as_deref(), Some("2026-11-30"));
        assert_eq!(seoul("2026-11-30T15:00:00Z"), None);
    }

    #[test]
    fn a_time_that_a_clock_change_leaves_out_or_repeats_is_due_once_that_day() {
        // 2026-03-08: from 02:00 to 03:00 in New York.
        let spring = |now| due_at(now, "02:30:00", "America/New_York");
        assert_eq!(spring("2026-03-08T06:59:59Z"), None);
        assert_eq!(spring("2026-03-08T07:00:00Z").as_deref(), Some("2026-03-08"));
        // 2026-11-01: 01:30 comes twice, and the clock goes back before it in between.
        let autumn = |now| due_at(now, "01:30:00", "America/New_York");
        assert_eq!(autumn("2026-11-01T05:30:00Z").as_deref(), Some("2026-11-01"));
        assert_eq!(autumn("2026-11-01T06:00:00Z"), None);
        assert_eq!(autumn("2026-11-01T06:30:00Z").as_deref(), Some("2026-11-01"));
    }
}
