/** Stream metadata, as it should be and as it should not, by file name. */
export function streams(url: string): Record<string, string> {
  const artifact = (name: string) => ({ location: `${url}/${name}`, signature: `${url}/${name}.sig`, sha256: '00' })
  const stream = (formats: object, architecture = 'x86_64') => ({
    stream: 'practice',
    metadata: { 'last-modified': '2026-01-01T00:00:00Z' },
    architectures: { [architecture]: { artifacts: { metal: { release: '1', formats } } } },
  })
  const disk = artifact('m.raw.xz')
  const { signature: _, ...unsigned } = disk
  const all = Object.entries({
    ok: stream({ 'raw.xz': { disk }, '4k.raw.xz': { disk: artifact('4k.raw.gz') }, iso: { disk: artifact('x.iso') } }),
    unsigned: stream({ 'raw.xz': { disk: unsigned } }),
    'other-format': stream({ 'raw.gz': { disk } }),
    'other-architecture': stream({ 'raw.xz': { disk } }, 'aarch64'),
    'two-parts': stream({ 'raw.xz': { disk, kernel: disk } }),
    'no-parts': stream({ 'raw.xz': {} }),
    'bad-url': stream({ 'raw.xz': { disk: { ...disk, location: 'x' } } }),
    'lost-image': stream({ 'raw.xz': { disk: artifact('lost.raw.xz') } }),
  })
  return {
    ...Object.fromEntries(all.map(([name, content]) => [`${name}.json`, JSON.stringify(content, null, 2)])),
    'page.json': '<html></html>',
  }
}
