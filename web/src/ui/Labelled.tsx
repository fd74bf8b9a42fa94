import { type InputHTMLAttributes, useId } from "react";
import { useT } from "@/i18n";

/** A field with its label above it, which says in our words what the browser finds wrong with it. */
export function Labelled({
  label,
  isWrong,
  className,
  ...input
}: InputHTMLAttributes<HTMLInputElement> & { label: string; isWrong?: boolean }) {
  const t = useT();
  const id = useId();
  return (
    <div className={className?.includes("w-full") ? "" : "inline-block"}>
      <label htmlFor={id} className="block font-medium">
        {label}
      </label>
      <input
        id={id}
        className={`field mt-1 ${className ?? ""}`}
        aria-invalid={isWrong}
        // Whoever changes the value, what was said of the one before is over.
        ref={(input) => input?.setCustomValidity("")}
        // The browser would say it in its own language.
        onInvalid={({ currentTarget: { validity }, currentTarget }) =>
          currentTarget.setCustomValidity(validity.valueMissing ? t.form.missing : validity.valid ? "" : t.form.invalid)
        }
        onInput={({ currentTarget }) => currentTarget.setCustomValidity("")}
        {...input}
      />
      {/* Browsers show days and months in an order of their own. */}
      {input.type === "datetime-local" && input.value ? (
        <span className="mono block text-xs text-ink-2">{String(input.value).replace("T", " ")}</span>
      ) : null}
    </div>
  );
}
