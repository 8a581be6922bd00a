import { rows, rowsVersion } from '../state/lab-state.js'
export function NodeView({ ident }: { ident: string | null }) {
  void rowsVersion.value
  const row = ident === null ? undefined : rows.named(ident)
  return <h1>{row?.name ?? ident}</h1>
}
