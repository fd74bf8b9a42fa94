import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type InputHTMLAttributes, useId, useState } from "react";
import { Can } from "@/features/charges/list";
import { type ProductRowFragment, ProductsDocument, SaveProductDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { useHotkeys } from "@/lib/hotkeys";
import { count } from "@/lib/money";
import { session } from "@/lib/session";
import { useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { Labelled } from "@/ui/Labelled";
import { LiveIndicator, PauseButton, paused } from "@/ui/Live";
import { EmptyState, ErrorState, StaleNotice } from "@/ui/Messages";
import { Money } from "@/ui/Money";
import { PageTitle } from "@/ui/PageTitle";
import { ReasonDialog, type Told } from "@/ui/ReasonDialog";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { showWhole } from "@/ui/whole";
import { useZoneTitle } from "@/ui/zone";
import { CONTAINERS, type Draft, draftOf, inputOf, rebased, twin } from "./draft";

/** How often the list is looked at. */
const REFRESH_MS = 3_000;

const keyOf = ({ container, sku }: ProductRowFragment) => `${container}:${sku}`;

/** What can be bought, and what could be. */
export function ProductsPage() {
  const t = useT();
  const isAdmin = useStore(session)?.viewer?.roles.includes("ADMIN") ?? false;
  const isPaused = useStore(paused);
  useHotkeys({ KeyP: () => paused.set(!paused.get()) });
  const query = useQuery({
    queryKey: ["products"],
    queryFn: async ({ signal }) => (await gql(ProductsDocument, {}, signal)).canProducts,
    refetchInterval: isPaused ? false : REFRESH_MS,
    refetchOnWindowFocus: !isPaused,
  });
  /** The product that is being changed; a new one has none. */
  const [open, setOpen] = useState<{ product?: ProductRowFragment }>();
  const edit = (product?: ProductRowFragment) => isAdmin && setOpen(product ? { product } : {});
  const products = query.data;
  const { locale } = useSettings();
  return (
    <>
      <PageTitle title={t.nav.products} note={products && t.counted.products(count(products.length, locale, "EXACT"))}>
        <button
          type="button"
          className="button"
          data-kind={isAdmin ? "primary" : undefined}
          aria-disabled={!isAdmin}
          title={isAdmin ? undefined : t.product.onlyAdmin}
          onClick={() => edit()}
        >
          <Plus size={13} aria-hidden="true" />
          {t.product.create}
        </button>
        <LiveIndicator />
        <PauseButton />
      </PageTitle>
      {query.error && !products ? <ErrorState error={query.error} retry={() => void query.refetch()} /> : null}
      <div className="min-h-0 flex-1 overflow-auto" aria-busy={query.isPending}>
        {products?.length === 0 ? <EmptyState>{t.list.empty(t.things.products)}</EmptyState> : null}
        {query.error && !products ? null : <Table products={products} isAdmin={isAdmin} edit={edit} />}
      </div>
      {query.error && products ? <StaleNotice error={query.error} retry={() => void query.refetch()} /> : null}
      {open ? <ProductDialog {...open} close={() => setOpen(undefined)} /> : null}
    </>
  );
}

interface TableProps {
  products: ProductRowFragment[] | undefined;
  isAdmin: boolean;
  edit: (product: ProductRowFragment) => void;
}

function Table({ products, isAdmin, edit }: TableProps) {
  const t = useT();
  const zoneTitle = useZoneTitle();
  if (products?.length === 0) return null;
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">{t.field.sku}</th>
          <th scope="col">{t.field.container}</th>
          <th scope="col">{t.field.status}</th>
          <th scope="col">{t.field.title}</th>
          <th scope="col" className="text-right!">
            {t.field.can}
          </th>
          <th scope="col" className="text-right!">
            {t.field.price}
          </th>
          <th scope="col" title={zoneTitle}>
            {t.field.updatedAt}
          </th>
          <th scope="col">
            <span className="sr-only">{t.product.edit}</span>
          </th>
        </tr>
      </thead>
      <tbody onPointerMove={showWhole}>
        {products?.map((product) => (
          <tr key={keyOf(product)}>
            <td className="mono max-w-60">{product.sku}</td>
            <td className="mono">{product.container}</td>
            <td>
              <StatusChip status={product.isActive ? "ON_SALE" : "OFF_SALE"} of="product" />
            </td>
            <td className="max-w-96">{product.title}</td>
            <td className="text-right">
              <Can can={product.can} />
            </td>
            <td className="text-right">
              <Money amount={product.price} />
            </td>
            <td>
              <Time at={product.updatedAt} />
            </td>
            <td>
              <button
                type="button"
                className="button h-6!"
                aria-disabled={!isAdmin}
                aria-label={t.product.editOne(`${product.container} ${product.sku}`)}
                title={isAdmin ? undefined : t.product.onlyAdmin}
                onClick={() => edit(product)}
              >
                {t.product.edit}
              </button>
            </td>
          </tr>
        )) ??
          Array.from({ length: 6 }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are all the same
            <tr key={index}>
              {[1, 2, 3, 4, 5, 6, 7, 8].map((cell) => (
                <td key={cell}>
                  <div className="skeleton w-3/5" />
                </td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}

interface DialogProps {
  product?: ProductRowFragment;
  close: () => void;
}

function ProductDialog({ product, close }: DialogProps) {
  const t = useT();
  const [draft, setDraft] = useState(() => draftOf(product));
  const queries = useQueryClient();
  /** What stood there when it was opened, or when it was refused: what changes meanwhile is not written over. */
  const [seen, setSeen] = useState(product);
  const save = async (reason: string): Promise<Told> => {
    const variables = { input: inputOf(draft), reason, expectedUpdatedAt: seen?.updatedAt ?? null, mustBeNew: !seen };
    const { result } = await gql(SaveProductDocument, variables);
    const refused = result.userErrors[0];
    if (refused?.code === "CHANGED_MEANWHILE") {
      await queries.refetchQueries({ queryKey: ["products"] });
      const newest = twin(draft, queries.getQueryData<ProductRowFragment[]>(["products"]) ?? []);
      if (seen && newest) setDraft(rebased(draft, seen, newest));
      setSeen(newest);
    }
    return refused ? { refused } : { done: t.product.saved };
  };
  return (
    <ReasonDialog
      draftKey={product ? `product ${keyOf(product)}` : "new product"}
      title={seen ? t.product.editOne(`${seen.container} ${seen.sku}`) : t.product.create}
      label={t.product.save}
      effect={t.product.effect}
      facts={seen ? [[t.product.now, <Now key="now" product={seen} />]] : undefined}
      run={save}
      close={close}
    >
      <Fields draft={draft} change={setDraft} isNew={!seen} />
    </ReasonDialog>
  );
}

function Now({ product }: { product: ProductRowFragment }) {
  return (
    <>
      <Money amount={product.price} /> · <Can can={product.can} /> · {product.title}
    </>
  );
}

function Fields({ draft, change, isNew }: { draft: Draft; change: (draft: Draft) => void; isNew: boolean }) {
  const t = useT();
  const container = useId();
  const text = (field: "sku" | "can" | "price" | "title", input: InputHTMLAttributes<HTMLInputElement>) => (
    <Labelled
      label={t.field[field]}
      autoComplete="off"
      className="w-full"
      {...input}
      value={draft[field]}
      onChange={(event) => change({ ...draft, [field]: event.target.value })}
    />
  );
  return (
    <div className="grid grid-cols-2 gap-3">
      {isNew ? (
        <>
          <div>
            <label htmlFor={container} className="block font-medium">
              {t.field.container}
            </label>
            <select
              id={container}
              className="field mt-1 w-full"
              value={draft.container}
              onChange={(event) => change({ ...draft, container: event.target.value as Draft["container"] })}
            >
              {CONTAINERS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
          {text("sku", { maxLength: 100 })}
        </>
      ) : null}
      {text("can", { inputMode: "numeric", maxLength: 10 })}
      {text("price", { inputMode: "numeric", maxLength: 13 })}
      <div className="col-span-2">{text("title", { maxLength: 100 })}</div>
      <label className="col-span-2 flex items-center gap-2">
        <input
          type="checkbox"
          checked={draft.isActive}
          onChange={(event) => change({ ...draft, isActive: event.target.checked })}
        />
        {t.product.onSale}
      </label>
    </div>
  );
}
