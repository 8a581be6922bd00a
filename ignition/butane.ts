/**
 * The variant of a Butane file, as in `variant: fcos`; null for any other text. Butane files are YAML, and JSON is YAML too.
 */
export function butaneVariant(text: string): string | null {
  const found =
    /^(?:\s*\{)?\s*(?:[^\n]*[,{]\s*)?["']?variant["']?\s*:\s*["']?(fcos|flatcar|openshift|r4e|fiot)\b/m.exec(text)
  return found?.[1] ?? null
}
