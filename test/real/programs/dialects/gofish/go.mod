module ironstage.test/dialects-gofish

go 1.25.0

require github.com/stmcginnis/gofish v0.22.0
