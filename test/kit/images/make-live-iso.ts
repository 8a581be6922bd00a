import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isoImage, liveFiles } from './live-iso.js'

// Writes images/coreos-live.iso, the live ISO that comes with ironstage: npx jiti test/kit/images/make-live-iso.ts
writeFileSync(fileURLToPath(new URL('../../../images/coreos-live.iso', import.meta.url)), isoImage(liveFiles()))
