import { useState } from "react";
import { RunChargeJobsDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { ReasonDialog, type Told } from "@/ui/ReasonDialog";

/** Has the worker grant what is due, instead of waiting for its next run. */
export function RunJobs() {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  const [force, setForce] = useState(false);
  const isAdmin = useStore(session)?.viewer?.roles.includes("ADMIN") ?? false;
  const run = async (reason: string): Promise<Told> => {
    const { result } = await gql(RunChargeJobsDocument, { force, reason });
    const refused = result.userErrors[0];
    if (refused) return { refused };
    if (result.skippedNoActivePromotion) return { unclear: t.charge.skipped };
    const { claimed, done, failed } = result;
    return { done: t.charge.ran(String(claimed), String(done), String(failed)) };
  };
  return (
    <>
      <button
        type="button"
        className="button"
        aria-disabled={!isAdmin}
        title={isAdmin ? t.charge.runEffect : t.refusedBecause.role}
        onClick={() => {
          if (!isAdmin) return;
          setForce(false);
          setOpen(true);
        }}
      >
        {t.charge.run}
      </button>
      {isOpen ? (
        <ReasonDialog
          draftKey="runChargeJobs"
          title={t.charge.run}
          label={t.charge.run}
          effect={t.charge.runEffect}
          run={run}
          close={() => setOpen(false)}
        >
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
            {t.charge.force}
          </label>
        </ReasonDialog>
      ) : null}
    </>
  );
}
