import fc from 'fast-check'

// A suite that must pass on every machine looks at the same cases on each; other seeds are for those who look for more.
fc.configureGlobal({ seed: Number(process.env['FAST_CHECK_SEED'] ?? 20_261_121) })
