package userdata

import "strings"

// powershell is the user data of Windows: the user's commands, and then the call of the
// script that is in the image.
func powershell(in Input) string {
	var b strings.Builder
	b.WriteString("<powershell>\n")
	if in.Custom != "" {
		b.WriteString(in.Custom + "\n")
	}
	b.WriteString(`[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"` + "\n")
	b.WriteString("& $EKSBootstrapScriptFile -EKSClusterName " + literal(in.Cluster.Name) + " -APIServerEndpoint " + literal(in.Cluster.Endpoint))
	if in.Cluster.CABundle != "" {
		b.WriteString(" -Base64ClusterCA " + literal(in.Cluster.CABundle))
	}
	b.WriteString(" -KubeletExtraArgs " + literal(flags(in)))
	if dns := in.dns(); dns != "" {
		b.WriteString(" -DNSClusterIP " + literal(dns))
	}
	b.WriteString("\n</powershell>")
	return b.String()
}

// literal quotes a word for PowerShell.
func literal(word string) string { return "'" + strings.ReplaceAll(word, "'", "''") + "'" }
