package cluster

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listeners are the ports of the lab, opened before anything starts, and handed to the components that
// serve them. Other machines cannot reach them.
type listeners struct {
	apiServer, controllerManager, scheduler, aws net.Listener
}

// openPorts opens all ports, or none.
func openPorts(apiPort int) (listeners, error) {
	var l listeners
	var err error
	if l.apiServer, err = listen("kube-apiserver", apiPort); err != nil {
		return l, err
	}
	if l.controllerManager, err = listen("kube-controller-manager", 0); err != nil {
		l.close()
		return l, err
	}
	if l.scheduler, err = listen("kube-scheduler", 0); err != nil {
		l.close()
		return l, err
	}
	if l.aws, err = listen("aws", 0); err != nil {
		l.close()
		return l, err
	}
	return l, nil
}

// close closes what is open. A listener that was handed over is closed already, which is not an error.
func (l listeners) close() {
	for _, listener := range []net.Listener{l.apiServer, l.controllerManager, l.scheduler, l.aws} {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// PortTaken says that a port which the user asked for is in use.
type PortTaken struct {
	Port      int
	Component string
}

func (e *PortTaken) Error() string {
	return fmt.Sprintf("port %d on 127.0.0.1 is taken; it was asked for by --api-port for %s. "+
		"Choose another, or leave --api-port out to get a free one", e.Port, e.Component)
}

func listen(component string, port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &PortTaken{Port: port, Component: component}
	}
	if err != nil {
		return nil, fmt.Errorf("open port %d for %s: %w", port, component, err)
	}
	return listener, nil
}

// portOf is the number of a listener's port.
func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

// freePort finds a port for a program that opens it itself. Another program may take it in between;
// the program then ends, and is started again or reported.
func freePort(component string) (int, error) {
	listener, err := listen(component, 0)
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return portOf(listener), nil
}
