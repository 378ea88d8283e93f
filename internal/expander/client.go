package expander

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Client is a server of the service grpcplugin.Expander, which Cluster Autoscaler defines for its expander grpc.
type Client struct{ connection *grpc.ClientConn }

const (
	bestOptions = "/grpcplugin.Expander/BestOptions"
	// mostBytes bounds a message in either direction.
	mostBytes = 128 << 20
)

// Dial makes a client of the server at an address. The file has the certificates, in PEM, of which one has to confirm that of the
// server. The connection is made when the client asks first.
func Dial(address, certificates string) (*Client, error) {
	trusted, err := credentials.NewClientTLSFromFile(certificates, "")
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the expander's server: %w", err)
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(trusted),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(wire{}), grpc.MaxCallSendMsgSize(mostBytes), grpc.MaxCallRecvMsgSize(mostBytes)))
	if err != nil {
		return nil, fmt.Errorf("read the address of the expander's server: %w", err)
	}
	return &Client{connection}, nil
}

// BestOptions implements Server.
func (c *Client) BestOptions(ctx context.Context, r Request) ([]string, error) {
	var answer response
	if err := c.connection.Invoke(ctx, bestOptions, &r, &answer); err != nil {
		return nil, err
	}
	return answer.groups, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.connection.Close() }
