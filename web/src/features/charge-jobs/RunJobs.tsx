import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { RunChargeJobsDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { ErrorText } from "@/ui/Messages";
import { tell } from "@/ui/Notices";

/** Has the worker grant what is due, instead of waiting for its next run. */
export function RunJobs() {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  const isAdmin = useStore(session)?.viewer?.roles.includes("ADMIN") ?? false;
  return (
    <>
      <button
        type="button"
        className="button"
        aria-disabled={!isAdmin}
        title={isAdmin ? t.charge.runEffect : t.refusedBecause.role}
        onClick={() => isAdmin && setOpen(true)}
      >
        {t.charge.run}
      </button>
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        {isOpen ? <Confirmation close={() => setOpen(false)} /> : null}
      </Dialog.Root>
    </>
  );
}

function Confirmation({ close }: { close: () => void }) {
  const t = useT();
  const environment = useStore(session)?.environment ?? "";
  const queries = useQueryClient();
  const [force, setForce] = useState(false);
  const run = useMutation({
    mutationFn: async () => (await gql(RunChargeJobsDocument, { force })).result,
    onSuccess: ({ claimed, done, failed, skippedNoActivePromotion, userErrors }) => {
      void queries.invalidateQueries();
      if (userErrors.length > 0) return;
      tell(skippedNoActivePromotion ? t.charge.skipped : t.charge.ran(String(claimed), String(done), String(failed)));
      close();
    },
  });
  const refused = run.data?.userErrors[0];
  return (
    <Dialog.Portal>
      <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
      <Dialog.Popup className="popup fixed top-1/2 left-1/2 z-40 w-[400px] max-w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2">
        <div className="space-y-3 p-4">
          <Dialog.Title className="text-lg">{t.charge.run}</Dialog.Title>
          <Dialog.Description className="text-ink-2">{t.charge.runEffect}</Dialog.Description>
          <p>
            {t.confirm.environment} <strong>{environment}</strong>
          </p>
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
            {t.charge.force}
          </label>
          {refused || run.error ? (
            <div role="alert" className="rounded-md bg-bad-ground p-2 text-bad">
              {refused ? (
                `${t.confirm.codes[refused.code] ?? t.confirm.refused} ${refused.message}`
              ) : (
                <ErrorText error={run.error} />
              )}
            </div>
          ) : null}
        </div>
        <div className="flex justify-end gap-2 border-t border-line bg-ground-2 p-3">
          <Dialog.Close className="button">{t.confirm.cancel}</Dialog.Close>
          <button
            type="button"
            className="button"
            data-kind="primary"
            aria-disabled={run.isPending}
            onClick={() => run.isPending || run.mutate()}
          >
            {run.isPending ? t.confirm.working : t.charge.run}
          </button>
        </div>
      </Dialog.Popup>
    </Dialog.Portal>
  );
}
