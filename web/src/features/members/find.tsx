import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useRef, useState } from "react";
import { Nothing, Panel } from "@/features/detail/parts";
import { RecentMembersDocument, type RecentMembersQuery } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { useHotkeys } from "@/lib/hotkeys";
import { ErrorState } from "@/ui/Messages";
import { PageTitle } from "@/ui/PageTitle";
import { Time } from "@/ui/Time";
import { useZoneTitle } from "@/ui/zone";

type Charge = RecentMembersQuery["charges"]["nodes"][number];

/** Each member once, with the newest of its charges. */
function newestOfEach(charges: Charge[]): Charge[] {
  const known = new Set<string>();
  return charges.filter(({ member }) => !known.has(member.id) && known.add(member.id));
}

/** Leads to a member, by the id that another service knows or by what was bought last. */
export function FindMemberPage() {
  const t = useT();
  const navigate = useNavigate();
  const [id, setId] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const ids = { input: useId(), hint: useId() };
  useHotkeys({ Slash: () => input.current?.focus() });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (id.trim() !== "") void navigate({ to: "/members/$id", params: { id: id.trim() } });
  };
  return (
    <>
      <PageTitle title={t.nav.members} />
      <div className="min-h-0 flex-1 space-y-3 overflow-auto bg-ground-2 p-3">
        <Panel title={t.member.find}>
          <form onSubmit={submit} className="space-y-1 p-3">
            <label htmlFor={ids.input} className="block font-medium">
              {t.member.id}
            </label>
            <div className="flex gap-2">
              <input
                ref={input}
                id={ids.input}
                className="field mono w-64"
                inputMode="numeric"
                autoComplete="off"
                aria-describedby={ids.hint}
                aria-keyshortcuts="/"
                value={id}
                onChange={(event) => setId(event.target.value)}
              />
              <button type="submit" className="button" data-kind="primary" aria-disabled={id.trim() === ""}>
                {t.member.open}
              </button>
            </div>
            <p id={ids.hint} className="text-xs text-ink-2">
              {t.member.hint}
            </p>
          </form>
        </Panel>
        <Panel title={t.member.recent}>
          <Recent />
        </Panel>
      </div>
    </>
  );
}

/** Read once: nothing here moves under the reader. */
function Recent() {
  const t = useT();
  const zoneTitle = useZoneTitle();
  const query = useQuery({
    queryKey: ["members", "recent"],
    queryFn: async ({ signal }) => newestOfEach((await gql(RecentMembersDocument, {}, signal)).charges.nodes),
    refetchOnWindowFocus: false,
  });
  if (query.error) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.data?.length === 0) return <Nothing />;
  return (
    <table className="table" aria-busy={query.isPending}>
      <thead>
        <tr>
          <th scope="col">{t.member.id}</th>
          <th scope="col">{t.field.nickname}</th>
          <th scope="col" title={zoneTitle}>
            {t.member.lastCharge}
          </th>
        </tr>
      </thead>
      <tbody>
        {query.data?.map(({ member, createdAt }) => (
          <tr key={member.id} className="relative">
            <td>
              <Link
                to="/members/$id"
                params={{ id: member.id }}
                data-row={member.id}
                className="link mono after:absolute after:inset-0"
              >
                {member.id}
              </Link>
            </td>
            <td className="max-w-96">{member.nickname ?? "–"}</td>
            <td>
              <Time at={createdAt} />
            </td>
          </tr>
        )) ??
          ["60%", "40%", "50%"].map((width) => (
            <tr key={width}>
              {[1, 2, 3].map((cell) => (
                <td key={cell}>
                  <div className="skeleton" style={{ width }} />
                </td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}
