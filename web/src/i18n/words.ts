/** A number as it is counted and as it is written: 10,000 may be written `10,000+`. */
export interface Count {
  value: number;
  text: string;
}

const english = new Intl.PluralRules("en");

/** `1 payment`, `2 payments`. */
export function counted({ value, text }: Count, one: string, other: string): string {
  return `${text} ${english.select(value) === "one" ? one : other}`;
}

/** A Korean noun with the particle that its last syllable asks for: `결제는`, `환불은`. */
export function withParticle(noun: string, afterConsonant: string, afterVowel: string): string {
  const syllable = noun.charCodeAt(noun.length - 1) - 0xac00;
  const endsInConsonant = syllable >= 0 && syllable < 11_172 && syllable % 28 !== 0;
  return `${noun}${endsInConsonant ? afterConsonant : afterVowel}`;
}
