import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, ChevronsLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Can } from "@/features/charges/list";
import { Detail, Facts, Nothing, Panel, RelatedRows, Scroll } from "@/features/detail/parts";
import { usePolledRow } from "@/features/detail/useLiveRow";
import { MemberDocument, MemberLedgerDocument, type MemberQuery } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { count, whole } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { paused } from "@/ui/Live";
import { ErrorState } from "@/ui/Messages";
import { Time } from "@/ui/Time";
import { showWhole } from "@/ui/whole";

/** The page of the ledger, as the address has it. */
export interface LedgerSearch {
  after?: string;
  before?: string;
}

type Loaded = Omit<MemberQuery, "member"> & { member: NonNullable<MemberQuery["member"]> };

const load = async (id: string, signal: AbortSignal): Promise<Loaded | null> => {
  const found = await gql(MemberDocument, { id }, signal);
  return found.member ? { ...found, member: found.member } : null;
};

export function MemberPage({ id, search }: { id: string; search: LedgerSearch }) {
  const t = useT();
  const { locale } = useSettings();
  const query = usePolledRow("members", id, load);
  const all = (to: "/charges" | "/charge-jobs"): ReactNode => (
    <p className="border-t border-line px-3 py-2">
      <Link to={to} search={{ memberId: id } as never} className="link">
        {t.charge.all}
      </Link>
    </p>
  );
  return (
    <Detail
      query={query}
      id={id}
      list={{ path: "/members", title: t.nav.members }}
      thing={t.thing.member}
      of="charge"
      state={() => undefined}
    >
      {({ member, charges, chargeJobs }) => ({
        main: <Ledger id={id} search={search} />,
        side: (
          <>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [t.field.id, member.id],
                  [t.field.nickname, member.nickname],
                ]}
              />
            </Panel>
            <Panel title={t.charge.wallets}>
              <Wallets wallets={member.wallets} />
            </Panel>
            <Panel title={t.nav.charges} note={t.charge.newest}>
              <RelatedRows
                rows={charges.nodes.map((charge) => ({ ...charge, status: charge.paymentStatus }))}
                to="/charges"
                of="charge"
                label={(charge) => `${charge.title} · ${t.charge.can(whole(charge.can, locale))}`}
              />
              {all("/charges")}
            </Panel>
            <Panel title={t.charge.jobs} note={t.charge.newest}>
              <RelatedRows
                rows={chargeJobs.nodes}
                to="/charge-jobs"
                of="job"
                label={(job) => `${t.charge[job.jobType]} · ${t.charge.can(whole(job.additionalCan, locale))}`}
              />
              {all("/charge-jobs")}
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}

function Wallets({ wallets }: { wallets: Loaded["member"]["wallets"] }) {
  const t = useT();
  if (wallets.length === 0) return <Nothing />;
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">{t.field.container}</th>
          <th scope="col" className="text-right!">
            {t.field.chargeCan}
          </th>
          <th scope="col" className="text-right!">
            {t.field.bonusCan}
          </th>
        </tr>
      </thead>
      <tbody>
        {wallets.map((wallet) => (
          <tr key={wallet.container}>
            <td className="mono">{wallet.container}</td>
            <td className="text-right">
              <Can can={wallet.chargeCan} />
            </td>
            <td className="text-right">
              <Can can={wallet.bonusCan} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const PAGE = 25;

/** Every change of a balance, the newest first. */
function Ledger({ id, search }: { id: string; search: LedgerSearch }) {
  const t = useT();
  const { locale } = useSettings();
  const isPaused = useStore(paused);
  const page = search.before ? { last: PAGE, before: search.before } : { first: PAGE, after: search.after };
  const query = useQuery({
    queryKey: ["members", "ledger", id, search],
    queryFn: async ({ signal }) => (await gql(MemberLedgerDocument, { id, ...page }, signal)).member?.ledger,
    placeholderData: keepPreviousData,
    refetchInterval: isPaused ? false : 5_000,
    refetchOnWindowFocus: !isPaused,
  });
  const ledger = query.data;
  const isNewest = !search.after && !search.before;
  const at = (cursor: LedgerSearch) =>
    ((known: object) => ({ ...known, after: undefined, before: undefined, ...cursor })) as never;
  const info = ledger?.pageInfo;
  const counted = ledger && t.counted.ledger(count(ledger.count.value, locale, ledger.count.precision));
  return (
    <Panel title={t.charge.ledger} note={counted}>
      {query.error && !ledger ? (
        <ErrorState error={query.error} retry={() => void query.refetch()}>
          {isNewest ? null : (
            <Link to="." search={at({})} className="button">
              {t.list.newest}
            </Link>
          )}
        </ErrorState>
      ) : null}
      {ledger && ledger.nodes.length === 0 ? <Nothing /> : null}
      {ledger && ledger.nodes.length > 0 ? (
        <Scroll label={t.charge.ledger}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t.field.at}</th>
                <th scope="col">{t.field.container}</th>
                <th scope="col">{t.field.charged}</th>
                <th scope="col" className="text-right!">
                  {t.field.can}
                </th>
                <th scope="col" className="text-right!">
                  {t.field.balanceAfter}
                </th>
                <th scope="col">{t.thing.charge}</th>
              </tr>
            </thead>
            <tbody onPointerMove={showWhole}>
              {ledger.nodes.map((entry) => (
                <tr key={entry.id}>
                  <td>
                    <Time at={entry.createdAt} />
                  </td>
                  <td className="mono">{entry.container}</td>
                  <td>{entry.kind === "BONUS" ? t.charge.EVENT : t.charge.CHARGE}</td>
                  <td className="text-right">
                    <Can can={entry.can} />
                  </td>
                  <td className="text-right">
                    <Can can={entry.balanceAfter} />
                  </td>
                  <td className="max-w-72">
                    <Link to="/charges/$id" params={{ id: entry.charge.id }} className="link">
                      {`${entry.charge.id} · ${entry.charge.title}`}
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      ) : null}
      {info && !(isNewest && !info.hasNextPage) ? (
        <nav aria-label={t.list.pageOf} className="flex gap-2 px-3 py-2">
          {isNewest ? null : (
            <Link to="." search={at({})} className="button">
              <ChevronsLeft size={13} aria-hidden="true" />
              {t.list.newest}
            </Link>
          )}
          {!isNewest && info.hasPreviousPage && info.startCursor ? (
            <Link to="." search={at({ before: info.startCursor })} className="button">
              <ChevronLeft size={13} aria-hidden="true" />
              {t.list.newer}
            </Link>
          ) : null}
          {info.hasNextPage && info.endCursor ? (
            <Link to="." search={at({ after: info.endCursor })} className="button">
              {t.list.older}
              <ChevronRight size={13} aria-hidden="true" />
            </Link>
          ) : null}
        </nav>
      ) : null}
    </Panel>
  );
}
