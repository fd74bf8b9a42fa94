/** Which deployment this is, in words and colour: production looks like nothing else. */
export function EnvironmentBar({ environment }: { environment: string }) {
  const tone = /prod|live/i.test(environment) ? "bad" : /stag|test|qa|sandbox/i.test(environment) ? "warn" : "info";
  const colours = { bad: "bg-bad text-ground", warn: "bg-warn text-ground", info: "bg-info-ground text-info" }[tone];
  return (
    <header
      className={`h-5 shrink-0 text-center text-xs leading-5 font-semibold ${colours}`}
      data-environment={environment}
    >
      {environment}
    </header>
  );
}
