export function FaultsView() {
  return <h1>Faults and clock</h1>
}
