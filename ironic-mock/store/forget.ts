/** Removes a value's entry, unless the value is another record's by now. */
export function forget(index: Map<string, string>, value: string, uuid: string): void {
  if (index.get(value) === uuid) index.delete(value)
}
