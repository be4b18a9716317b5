package watermark

// Kill ends the process of a guard: only its file is left.
func Kill(g *Guard) {
	if g != nil && g.memory != nil && g.memory.file != nil {
		_ = g.memory.file.Close()
	}
}
