import { useT } from "@/i18n";
import { PLACES } from "./places";

/** The keys and what they do. */
export function Shortcuts() {
  const t = useT();
  const keys: [string[], string][] = [
    [["/"], t.keys.filter],
    [["j", "k"], t.keys.rows],
    [["Enter"], t.keys.open],
    [["p"], t.keys.pause],
    ...PLACES.map(({ letter, name }): [string[], string] => [["g", letter], t.nav[name]]),
    [["?"], t.keys.help],
  ];
  return (
    <dl className="grid grid-cols-[max-content_1fr] items-center gap-x-6 gap-y-1.5">
      {keys.map(([shown, what]) => (
        <div key={what} className="contents">
          <dt className="flex gap-1">
            {shown.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
